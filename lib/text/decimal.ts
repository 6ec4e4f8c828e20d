/** A decimal number: `digits` × 10^`exponent`, without leading or trailing zeros. Zero has no digits. */
type Decimal = { isNegative: boolean; digits: string; exponent: number };

const NUMBER_TEXT = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function parseDecimal(text: string): Decimal {
  const [, sign, whole = "", fraction = "", exponent = "0"] = NUMBER_TEXT.exec(text) ?? [];
  const all = `${whole}${fraction}`;
  let end = all.length;
  while (end > 0 && all[end - 1] === "0") end -= 1;
  const digits = all.slice(0, end).replace(/^0+/, "");
  return {
    isNegative: sign === "-" && digits !== "",
    digits,
    exponent: digits === "" ? 0 : Number(exponent) - fraction.length + (all.length - end),
  };
}

/**
 * Whether parsing changed a number of the JSON text: a number beyond 2^53 that JavaScript writes with other digits, or
 * a number that is too large for a double. The rounding of smaller numbers does not count, because every JSON parser
 * rounds their fractions.
 */
export function isInexact(text: string, parsed: number): boolean {
  if (Math.abs(parsed) <= Number.MAX_SAFE_INTEGER) return false;
  if (!Number.isFinite(parsed)) return true;
  const written = parseDecimal(text);
  const read = parseDecimal(String(parsed));
  return written.digits !== read.digits || written.exponent !== read.exponent;
}

/**
 * Whether `value` is a multiple of `divisor`. Computes with decimal digits, because a quotient of doubles is rounded.
 */
export function isMultipleOf(value: number, divisor: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(divisor)) return value % divisor === 0;
  const one = parseDecimal(String(value));
  const other = parseDecimal(String(divisor));
  const exponent = Math.min(one.exponent, other.exponent);
  const scale = (decimal: Decimal) => BigInt(decimal.digits) * 10n ** BigInt(decimal.exponent - exponent);
  return scale(one) % scale(other) === 0n;
}
