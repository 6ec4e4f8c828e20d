/** A part of a file: the first byte, and the byte after the last one. */
type Range = { from: number; to: number };

/**
 * Reads the header `Range` for a file of `size` bytes.
 *
 * @returns undefined if the whole file is to be sent: without the header, and if it names several ranges, another unit or
 * no valid range. `unsatisfiable` if the file has no byte of the range. Source: RFC 9110, 14.2.
 */
export function parseRange(header: string | null, size: number): Range | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = /^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { from: size - length, to: size };
  }
  const from = Number(first);
  if (last !== "" && Number(last) < from) return undefined;
  if (from >= size) return "unsatisfiable";
  return { from, to: last === "" ? size : Math.min(Number(last) + 1, size) };
}
