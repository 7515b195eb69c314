package project_test

import (
	"testing"

	"github.com/vibeflight/vibeflight/kernels/internal/kerneltest"
)

func TestMain(m *testing.M) { kerneltest.Main(m, "project") }
