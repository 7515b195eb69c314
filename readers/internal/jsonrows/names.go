package jsonrows

import "bytes"

// Names returns the names of members of objects inside of a number of open brackets, as they are
// written, in the beginning of a file. It expects no valid JSON.
//
//	{"a": 1, "b": [{"c": 2}]}    1: a, b    3: c
func Names(head []byte, open int) map[string]bool {
	names := map[string]bool{}
	for depth, i := 0, 0; i < len(head); i++ {
		switch head[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			start := i + 1
			for i = start; i < len(head) && head[i] != '"'; i++ {
				if head[i] == '\\' {
					i++
				}
			}
			if i < len(head) && depth == open && bytes.HasPrefix(bytes.TrimLeft(head[i+1:], " \t\r\n"), []byte(":")) {
				names[string(head[start:i])] = true
			}
		}
	}
	return names
}
