package daemon

import (
	"os"
	"path/filepath"
	"strings"
)

// powerSupplies is where Linux tells of them.
const powerSupplies = "/sys/class/power_supply"

// onBattery reports whether the machine runs on battery by what stands in dir: a
// battery of the machine's (not of a mouse's) gives power, and no mains does.
// Where nothing is known, it does not.
func onBattery(dir string) bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	discharging := false
	for _, e := range entries {
		fact := func(name string) string {
			b, err := os.ReadFile(filepath.Join(dir, e.Name(), name))
			if err != nil {
				return ""
			}
			return strings.TrimSpace(string(b))
		}
		switch fact("type") {
		case "Mains", "USB":
			if fact("online") == "1" {
				return false
			}
		case "Battery":
			discharging = discharging || fact("scope") != "Device" && fact("status") == "Discharging"
		}
	}
	return discharging
}
