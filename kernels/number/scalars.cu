// scalars.cu: columns of numbers, of what members_read.cu found: all columns of a table in one
// launch, as there.
//
// buffer     elements         what
// starts     columns * rows   of the text of each row's value
// ends       columns * rows   likewise
// numbers    columns * words  bit per row: a number; may be null: all are
// trues      columns * words  bit per row: true; may be null: none is
// out        rows, each       int32, int64 or float64
// undecided  floats * words   bit per row of each column of float64: the host must look
#include "number/scalars.cuh"

// One thread, one row of one column. The columns are numbered by 4 bits of which each, as their
// types.
KERNEL __launch_bounds__(BLOCK) scalars_parse(const u8 *__restrict__ text, i64 n, i64 rows,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u64 *__restrict__ numbers,
    const u64 *__restrict__ trues, u32 which, u32 types, u32 columns, void *o0, void *o1, void *o2,
    void *o3, void *o4, void *o5, void *o6, void *o7, u64 *__restrict__ undecided) {
  const u32 i = blockIdx.x % columns, column = which >> 4 * i & 15, type = types >> 4 * i & 15;
  const i64 row = (i64)(blockIdx.x / columns) * BLOCK + threadIdx.x,
            words = (rows + WORD - 1) / WORD, word = column * words + row / WORD;
  bool unsure = false;
  if (row < rows) {
    const bool number = !numbers || numbers[word] >> row % WORD & 1,
               one = trues && trues[word] >> row % WORD & 1;
    Decimal d = {};
    if (number) number_kinds_of(text, n, starts[column * rows + row], ends[column * rows + row], d);
    unsure = store_value(select(i, o0, o1, o2, o3, o4, o5, o6, o7), type, row, number, d, one);
  }
  if (type == COLUMN_FLOAT64)
    store_bits(undecided + floats_before(types, i) * words, row, rows, unsure);
}
