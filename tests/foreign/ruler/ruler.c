#include "ruler.h"

static double metres(const ruler_length_t *length) {
  return length->unit == RULER_UNIT_FOOT ? length->amount * 0.3048 : length->amount;
}

bool exports_ruler_convert(ruler_length_t *length, ruler_unit_t to, ruler_rounding_t *rounding,
                           ruler_length_t *ret, ruler_string_t *err) {
  double amount = to == RULER_UNIT_FOOT ? metres(length) / 0.3048 : metres(length);
  long long step = rounding->tag == RULER_ROUNDING_TO_MULTIPLE_OF ? rounding->val.to_multiple_of : 1;
  if (step == 0) return ruler_string_dup(err, "cannot round to a multiple of zero"), false;
  if (rounding->tag != RULER_ROUNDING_NONE) amount = (long long)amount / step * step;
  *ret = (ruler_length_t){amount, to, length->label};
  return true;
}

bool exports_ruler_longest(ruler_list_length_t *lengths, ruler_length_t *ret) {
  for (size_t i = 0; i < lengths->len; i++)
    if (i == 0 || metres(&lengths->ptr[i]) > metres(ret)) *ret = lengths->ptr[i];
  return lengths->len > 0;
}

void exports_ruler_suggest_rounding(ruler_result_f64_string_t *measured, ruler_rounding_t *ret) {
  ret->tag = measured->is_err ? RULER_ROUNDING_NONE : RULER_ROUNDING_TO_MULTIPLE_OF;
  ret->val.to_multiple_of = !measured->is_err && measured->val.ok > 1000 ? 100 : 1;
}
