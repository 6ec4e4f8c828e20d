import { z } from "zod";
import type { VercelBox } from "./vercel-box.ts";

/** How scripts can be confined in a box: by bubblewrap as the box's user, by bubblewrap as root, or not at all. */
const bubblewrapSchema = z.enum(["user", "sudo", "none"]);
export type Bubblewrap = z.output<typeof bubblewrapSchema>;

const recordSchema = z.object({
  madeAt: z.iso.datetime(),
  /** The version of Playwright that installed Chromium. */
  playwright: z.string(),
  chromium: z.object({
    /** Path of the executable: absolute, or relative to the home of the box's user. */
    path: z.string(),
    version: z.string(),
    /** Whether Chromium starts with its own sandbox. */
    hasSandbox: z.boolean(),
  }),
  bubblewrap: bubblewrapSchema,
});

/** What `npm run vercel-snapshot` found out about an image, stored in the image itself. */
export type ImageRecord = z.output<typeof recordSchema>;

/** Name of the file, in the home of the box's user. */
const FILE = ".browser-image.json";

export async function writeImageRecord(box: VercelBox, record: ImageRecord): Promise<void> {
  const content = Buffer.from(`${JSON.stringify(record, null, 2)}\n`);
  await box.writeFiles([{ path: `${box.cwd}/${FILE}`, content }]);
}

/** Reads the record of the image that a box was created from; undefined if the image has none. */
export async function readImageRecord(box: VercelBox): Promise<ImageRecord | undefined> {
  const bytes = await box.readFileToBuffer({ path: `${box.cwd}/${FILE}` });
  return bytes === null ? undefined : recordSchema.parse(JSON.parse(bytes.toString()));
}

/** Tries out how bubblewrap works in a box now. The kernel below an image may change, so each start tries again. */
export async function probeBubblewrap(box: VercelBox): Promise<Bubblewrap> {
  for (const bubblewrap of ["user", "sudo"] as const) {
    const probe = await box.runCommand({
      cmd: "bash",
      args: ["-c", "bwrap --unshare-all --ro-bind / / --dev /dev --proc /proc true"],
      sudo: bubblewrap === "sudo",
      detached: true,
    });
    if ((await probe.wait()).exitCode === 0) return bubblewrap;
  }
  return "none";
}
