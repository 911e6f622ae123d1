module cases

go 1.20
