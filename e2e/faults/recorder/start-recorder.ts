import { spawn } from "node:child_process";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RecordedLine } from "./log-line.ts";

type Place = { model: number; receiver: number; tools: string; certificate: string };

export type Recorder = Awaited<ReturnType<typeof startRecorder>>;

/** Starts the recorder: a process with the scripted model, the callback receiver, pages and the tool server. */
export async function startRecorder() {
  const folder = await mkdtemp(join(tmpdir(), "faults-recorder-"));
  const logPath = join(folder, "recorder.jsonl");
  const main = fileURLToPath(new URL("./main.ts", import.meta.url));
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, logPath], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const place = await new Promise<Place>((done, fail) => {
    child.once("exit", (code) => fail(new Error(`the recorder ended with ${code}`)));
    child.stdout.once("data", (line: Buffer) => done(JSON.parse(line.toString())));
  });
  const certificatePath = join(folder, "certificate.pem");
  await writeFile(certificatePath, place.certificate);
  let offset = 0;

  return {
    modelUrl: `http://127.0.0.1:${place.model}/v1`,
    receiverUrl: `http://127.0.0.1:${place.receiver}`,
    toolsUrl: place.tools,
    /** Path of the certificate that the service must trust to reach the tool server. */
    certificatePath,
    pid: child.pid,
    /** Returns the lines of the log that were written since the last call. */
    async takeLines(): Promise<RecordedLine[]> {
      const file = await open(logPath, "r");
      try {
        const { size } = await file.stat();
        const { buffer } = await file.read(Buffer.alloc(size - offset), 0, size - offset, offset);
        const end = buffer.lastIndexOf(10) + 1;
        offset += end;
        const lines = buffer.subarray(0, end).toString("utf8").split("\n").filter(Boolean);
        return lines.map((line) => JSON.parse(line) as RecordedLine);
      } finally {
        await file.close();
      }
    },
    async close() {
      const ended = new Promise((done) => child.once("exit", done));
      child.stdin.end();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
