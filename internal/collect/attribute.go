package collect

import (
	"errors"
	"strconv"
	"strings"
)

// A form is what a parser wanted to see. It is the error of all parsers of
// attribute text, and completes "want".
type form string

func (f form) Error() string { return string(f) }

// errNoValue is a parser's answer to a text that says, in the documented form,
// that there is no value: "Unknown", "-1", nothing at all.
var errNoValue = errors.New("no value")

// parseText accepts any text that is not empty.
func parseText(s string) (string, error) {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "�")
	if s == "" {
		return "", errNoValue
	}
	return s, nil
}

// parseInt accepts a decimal number.
func parseInt(s string) (int, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil {
		return 0, form("a decimal number")
	}
	return int(n), nil
}

// parseUint accepts a decimal number of 64 bits.
func parseUint(s string) (uint64, error) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, form("a decimal number")
	}
	return n, nil
}

// parseHex32 accepts "0x" and a hexadecimal number of 32 bits.
func parseHex32(s string) (uint32, error) {
	digits, ok := strings.CutPrefix(s, "0x")
	n, err := strconv.ParseUint(digits, 16, 32)
	if !ok || err != nil {
		return 0, form("0x and hexadecimal digits")
	}
	return uint32(n), nil
}

// parseHex16 accepts "0x" and a hexadecimal number of 16 bits.
func parseHex16(s string) (uint16, error) {
	n, err := parseHex32(s)
	if err != nil || n > 0xffff {
		return 0, form("0x and at most four hexadecimal digits")
	}
	return uint16(n), nil
}

// parseNumbered splits the form in which ib_core prints enumerations,
// "4: ACTIVE".
func parseNumbered(s string) (int, string, error) {
	number, name, ok := strings.Cut(s, ": ")
	n, err := strconv.ParseUint(number, 10, 31)
	if name = strings.TrimSpace(name); !ok || err != nil || name == "" {
		return 0, "", form(`"NUMBER: NAME"`)
	}
	return int(n), strings.ToValidUTF8(name, "�"), nil
}

// parseName is the name part of parseNumbered.
func parseName(s string) (string, error) {
	_, name, err := parseNumbered(s)
	return name, err
}

// groupsOfHex reports whether s is n groups of four hexadecimal digits with
// colons between, as %pI6 prints a GID.
func groupsOfHex(s string, n int) bool {
	if len(s) != 5*n-1 {
		return false
	}
	for i := range len(s) {
		if i%5 == 4 {
			if s[i] != ':' {
				return false
			}
		} else if !strings.Contains("0123456789abcdef", s[i:i+1]) {
			return false
		}
	}
	return true
}

// parseGUID accepts four groups of four hexadecimal digits.
func parseGUID(s string) (string, error) {
	s = strings.ToLower(s)
	if !groupsOfHex(s, 4) {
		return "", form("four groups of four hexadecimal digits")
	}
	return s, nil
}

// base is the last element of a link's target.
func base(target string) string {
	return strings.ToValidUTF8(target[strings.LastIndexByte(target, '/')+1:], "�")
}

// pciAddresses returns the PCI functions in a link's target, from the root
// port down: "../../devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0/net/eth2".
func pciAddresses(target string) []string {
	var found []string
	for elem := range strings.SplitSeq(target, "/") {
		if isPCIAddress(elem) {
			found = append(found, elem)
		}
	}
	return found
}

// isPCIAddress reports whether s is "DOMAIN:BUS:DEVICE.FUNCTION". Domains have
// four digits or, behind VMD controllers and on some clouds, more.
func isPCIAddress(s string) bool {
	domain, rest, ok := strings.Cut(s, ":")
	if !ok || len(domain) < 4 || len(domain) > 8 || len(rest) != len("3b:00.0") || rest[2] != ':' || rest[5] != '.' {
		return false
	}
	for _, part := range []string{domain, rest[:2], rest[3:5], rest[6:]} {
		if _, err := strconv.ParseUint(part, 16, 32); err != nil {
			return false
		}
	}
	return true
}
