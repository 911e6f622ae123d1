# SPDX-License-Identifier: MIT
"""Checks EFI drivers: by reading the image, and by running it on models of machines.

driver_rules.py names every rule, with the section of the specification it comes from. Static rules
look at the PE image (image_rules.py) and at its instructions (code_rules.py). Dynamic rules watch a
driver that runs under Unicorn (extra `firmware`):

    platform    where memory and devices are, and how both see each other  platforms.py
    cpu         registers, calls, traps of x86-64 and AArch64             cpu.py
    memory      who owns which bytes                                      allocations.py
    dma         mappings, and the two copies of memory                    dma.py
    handles     the protocol database                                     handles.py
    events      events, timers, task priority levels                      events.py
    services    boot services, protocols, PciIo, root bridge               *_services.py
    devices     register models                                           devices/
    guest       all of these together                                     guest.py
    life cycle  entry, Supported, Start, use, Stop, unload                life_cycle.py

A driver under test runs in a child process with limits (../child.py), which check_image.py starts.
"""
