module quern/scripts/bench

go 1.26
