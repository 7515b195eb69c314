// Package process has what the operating system knows of this process and its machine: memory, CPU
// time, the limit of open files, the clock that systemd counts by, and the terminal.
package process
