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

struct ScalarsParseArgs {
  i64 n, rows;
  u32 which;  // the numbers of the columns, 4 bits each
  u32 types;  // likewise
  i64 columns;
  void *out[8];
  u64 *undecided;
};

// One thread, one row of one column.
KERNEL __launch_bounds__(BLOCK) scalars_parse(const u8 *__restrict__ text,
    const i64 *__restrict__ starts, const i64 *__restrict__ ends, const u64 *__restrict__ numbers,
    const u64 *__restrict__ trues, const __grid_constant__ ScalarsParseArgs args) {
  const i64 n = args.n, rows = args.rows;
  const u32 columns = (u32)args.columns, i = blockIdx.x % columns,
            column = args.which >> 4 * i & 15, type = args.types >> 4 * i & 15;
  const i64 row = (i64)(blockIdx.x / columns) * BLOCK + threadIdx.x,
            words = (rows + WORD - 1) / WORD, word = column * words + row / WORD;
  bool unsure = false;
  if (row < rows) {
    const bool number = !numbers || numbers[word] >> row % WORD & 1,
               one = trues && trues[word] >> row % WORD & 1;
    Decimal d = {};
    if (number) number_kinds_of(text, n, starts[column * rows + row], ends[column * rows + row], d);
    unsure = store_value(args.out[i], type, row, number, d, one);
  }
  if (type == COLUMN_FLOAT64)
    store_bits(args.undecided + floats_before(args.types, i) * words, row, rows, unsure);
}
