package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// units are the suffixes of sizes in bytes. A bare letter is a power of 1024,
// as in ls and du. Larger units stand first, for FormatSize.
var units = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1},
}

var sizePattern = regexp.MustCompile(`^([0-9]+)(\.[0-9]+)? ?([A-Za-z]*)$`)

// ParseSize reads a size: a number and a unit, as "64MiB", "1.5 GB" or "4096".
// KB, MB, GB and TB are powers of 1000, KiB … TiB and K … T powers of 1024;
// case does not matter. It returns bytes.
func ParseSize(s string) (int64, error) {
	m := sizePattern.FindStringSubmatch(s)
	if m == nil {
		return 0, badSize(s)
	}
	for _, u := range units {
		if strings.EqualFold(u.name, m[3]) {
			return scale(s, m[1], m[2], u.bytes)
		}
	}
	return 0, badSize(s)
}

// scale returns whole.fraction times unit, exactly for whole numbers.
func scale(s, whole, fraction string, unit int64) (int64, error) {
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("is too large a size (got %q)", s)
	}
	n *= unit
	if fraction == "" {
		return n, nil
	}
	part, err := strconv.ParseFloat("0"+fraction, 64)
	if err != nil {
		return 0, badSize(s)
	}
	more := int64(math.Round(part * float64(unit)))
	if n > math.MaxInt64-more {
		return 0, fmt.Errorf("is too large a size (got %q)", s)
	}
	return n + more, nil
}

func badSize(s string) error {
	return fmt.Errorf(`must be a size such as "64MiB", "1GB" or a number of bytes (got %q)`, s)
}

// FormatSize writes a size in bytes exactly, in the largest of TiB, GiB, MiB
// and KiB that divides it. ParseSize reads it back.
func FormatSize(n int64) string {
	for _, u := range units[:4] {
		if n != 0 && n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return strconv.FormatInt(n, 10)
}
