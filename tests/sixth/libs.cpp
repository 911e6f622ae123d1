// SPDX-License-Identifier: MIT
// Repeats one operation of a library for C++ as often as it is told: compiled once a library, by -DNAME.

#include <cstdio>
#include <cstdlib>
#include <cstring>

static char text[65536];

#ifdef BOOST
#include <boost/uuid/detail/sha1.hpp>
static void work()
{
    boost::uuids::detail::sha1 hash;
    boost::uuids::detail::sha1::digest_type digest;
    hash.process_bytes(text, sizeof text);
    hash.get_digest(digest);
    std::memcpy(text, digest, sizeof digest);
}
#endif

#ifdef QT
#include <QtCore/QByteArray>
#include <QtCore/QCryptographicHash>
static void work()
{
    const QByteArray sum = QCryptographicHash::hash(QByteArray::fromRawData(text, sizeof text), QCryptographicHash::Sha3_256);
    std::memcpy(text, sum.constData(), sum.size());
}
#endif

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    for (long n = std::atol(argv[1]); n > 0; n--)
        work();
    std::printf("%02x%02x\n", text[0] & 255, text[1] & 255);
}
