/** Keeps the beginning and the end of a stream of bytes, and counts what was left out between them. */
type OutputWindow = {
  add: (chunk: Buffer) => void;
  /** Number of all bytes that were added, including bytes that were left out. */
  totalBytes: () => number;
  /** Returns the kept bytes as text. If bytes were left out, a line between the beginning and the end says how many. */
  text: () => { text: string; truncated: boolean };
};

/** Creates an empty window. @param bytesMax number of bytes to keep: half from the beginning, half from the end. */
export function createOutputWindow(bytesMax: number): OutputWindow {
  const half = Math.floor(bytesMax / 2);
  const head: Buffer[] = [];
  let headBytes = 0;
  let tail: Buffer[] = [];
  let tailBytes = 0;
  let total = 0;

  return {
    add(chunk) {
      total += chunk.length;
      const forHead = chunk.subarray(0, half - headBytes);
      if (forHead.length > 0) head.push(forHead);
      headBytes += forHead.length;
      const rest = chunk.subarray(forHead.length);
      if (rest.length === 0) return;
      tail.push(rest);
      tailBytes += rest.length;
      // Concatenate only occasionally: once per chunk would be too slow with many small chunks.
      if (tailBytes > 2 * half || tail.length > 4_096) {
        tail = [Buffer.from(Buffer.concat(tail).subarray(-half))];
        tailBytes = tail[0]?.length ?? 0;
      }
    },
    totalBytes: () => total,
    text() {
      const [kept, last] = [Buffer.concat(head), Buffer.concat(tail).subarray(half === 0 ? Infinity : -half)];
      if (kept.length + last.length === total)
        return { text: Buffer.concat([kept, last]).toString("utf8"), truncated: false };
      const start = kept.subarray(0, kept.length - countCutAtEnd(kept));
      const end = last.subarray(countCutAtStart(last));
      const missing = total - start.length - end.length;
      return { text: `${start}\n[… ${missing} bytes left out …]\n${end}`, truncated: true };
    },
  };
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;

/** Counts the bytes of a UTF-8 character at the end of `bytes` whose last bytes are missing. */
function countCutAtEnd(bytes: Buffer): number {
  const at = bytes.findLastIndex((byte) => !isContinuation(byte));
  const [lead = 0, count] = [bytes[at], bytes.length - at];
  const needed = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return count < needed ? count : 0;
}

/** Counts the bytes of a UTF-8 character at the start of `bytes` whose first bytes are missing. */
function countCutAtStart(bytes: Buffer): number {
  const at = bytes.findIndex((byte) => !isContinuation(byte));
  const count = at === -1 ? bytes.length : at;
  // A character has at most three continuation bytes. More of them are no text.
  return count > 3 ? 0 : count;
}
