// xml.cuh: what kernels of XML share: how a fault is told, and what references to entities mean.
#pragma once
#include "core.cuh"

// As XMLFound of xml.go.
struct XMLFound {
  u64 fault;  // the lowest byte that is not accepted; all ones if there is none
  u32 used[8], outer[8];
  u32 deepest;
  u32 coded, sections, pad;  // not 0 if there is a "&" or a carriage return; a CDATA section
};
__device__ __forceinline__ void xml_fault(XMLFound *found, i64 at) {
  if ((u64)at < *(volatile u64 *)&found->fault) atomicMin(&found->fault, (u64)at);
}

__device__ __forceinline__ bool is_white(u32 c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

constexpr i64 LONGEST_ENTITY = 6;  // bytes

// How many bytes the reference to one of the five entities of XML 1.0 section 4.6 has that stands
// at a byte, and which character it means; 0 if none does.
__device__ __forceinline__ u32 entity_at(const u8 *__restrict__ text, i64 n, i64 at, u32 &means) {
  u64 v = 0;
  for (i64 i = min(n, at + LONGEST_ENTITY); i-- > at + 1;) v = v << 8 | text[i];
  if ((v & 0xffffff) == 0x3b746c) return means = '<', 4;                 // lt;
  if ((v & 0xffffff) == 0x3b7467) return means = '>', 4;                 // gt;
  if ((v & 0xffffffff) == 0x3b706d61) return means = '&', 5;             // amp;
  if ((v & 0xffffffffffull) == 0x3b746f7571ull) return means = '"', 6;   // quot;
  if ((v & 0xffffffffffull) == 0x3b736f7061ull) return means = '\'', 6;  // apos;
  return 0;
}
