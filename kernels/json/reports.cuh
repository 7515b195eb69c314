// reports.cuh: what is found out about members while they are placed in columns.
#pragma once
#include "core.cuh"

constexpr u32 NONE = 0xffffffff;
constexpr u32 NO_MEMBER = 0x7fffffff;

// Also in columns.go.
struct FieldReport {
  u32 first;  // member, or NO_MEMBER
  u32 kinds;  // bit per kind of value
};
struct PlaceReport {
  u32 unknown, repeated;  // members, or NONE
};
