import type { FrameAccess } from "#lib/page/frame/frame-access.ts";

/** How long the address of a saved file stays valid: browsers begin the download after the click. */
const ADDRESS_MS = 60_000;

/** Reads a stored file and lets the browser save it. @returns why it was not saved; null if it was. */
export async function saveFile(
  access: Pick<FrameAccess, "readStored">,
  path: string,
  name: string,
): Promise<string | null> {
  const fileName = name || nameOf(path) || "file";
  const blob = await access.readStored(path);
  if (!blob) return `${fileName} could not be loaded. It may be gone, or this link may not open it.`;
  const address = URL.createObjectURL(blob);
  try {
    Object.assign(document.createElement("a"), { href: address, download: fileName }).click();
  } finally {
    setTimeout(() => URL.revokeObjectURL(address), ADDRESS_MS);
  }
  return null;
}

/** Returns the name of the file at a path; as it is written there if its percent-escapes are malformed. */
function nameOf(path: string): string {
  const name = path.split(/[?#]/)[0]?.split("/").at(-1) ?? "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
