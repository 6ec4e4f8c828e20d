import type { FrameAccess } from "#lib/page/frame/frame-access.ts";

/** How long the address of a saved file stays valid: browsers begin the download after the click. */
const ADDRESS_MS = 60_000;

/** Reads a stored file and lets the browser save it. */
export async function saveFile(access: FrameAccess, path: string, name: string): Promise<void> {
  const blob = await access.readStored(path);
  if (!blob) return;
  const address = URL.createObjectURL(blob);
  const fileName = name || decodeURIComponent(path.split("?")[0]?.split("/").at(-1) ?? "") || "file";
  Object.assign(document.createElement("a"), { href: address, download: fileName }).click();
  setTimeout(() => URL.revokeObjectURL(address), ADDRESS_MS);
}
