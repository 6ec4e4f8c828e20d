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
      const end = half === 0 ? Buffer.alloc(0) : Buffer.concat(tail).subarray(-half);
      const missing = total - headBytes - end.length;
      if (missing <= 0) return { text: Buffer.concat([...head, end]).toString("utf8"), truncated: false };
      const start = Buffer.concat(head).toString("utf8");
      return { text: `${start}\n[… ${missing} bytes left out …]\n${end.toString("utf8")}`, truncated: true };
    },
  };
}
