import type { PastedItem } from "#lib/page/actions/session-actions.ts";

/** What was copied in the live page. `html` is null if it has no formatting. */
type Copied = { text: string; html: string | null };

/**
 * Writes what the live page copies to the person's clipboard. Call it while the event of the person's key is handled:
 * Safari refuses to write later, and other browsers do so after some seconds.
 *
 * @param content undefined if there is nothing to copy.
 * @returns false if the person's browser did not allow it.
 */
export async function writeToClipboard(
  content: Promise<Copied | undefined>,
  field: HTMLTextAreaElement | null,
): Promise<boolean> {
  const { clipboard, vendor } = navigator;
  try {
    if (clipboard && vendor.startsWith("Apple")) {
      const text = content.then((copied) => toBlob("text/plain", copied?.text ?? Promise.reject(NOTHING)));
      await clipboard.write([new ClipboardItem({ "text/plain": text })]);
      return true;
    }
    const copied = await content;
    if (!copied) return true;
    if (!clipboard) return copyByCommand(copied, field);
    const html = copied.html === null ? {} : { "text/html": toBlob("text/html", copied.html) };
    await clipboard.write([new ClipboardItem({ "text/plain": toBlob("text/plain", copied.text), ...html })]);
    return true;
  } catch {
    return (await content) === undefined;
  }
}

const NOTHING = new Error("nothing was copied");

const toBlob = async (type: string, text: string | Promise<never>): Promise<Blob> =>
  new Blob([await text], { type });

/** Copies with the command of the document, because a page without https has no other way. */
function copyByCommand({ text, html }: Copied, field: HTMLTextAreaElement | null): boolean {
  if (!field) return false;
  const fill = (event: ClipboardEvent) => {
    event.preventDefault();
    event.clipboardData?.setData("text/plain", text);
    if (html !== null) event.clipboardData?.setData("text/html", html);
  };
  // The command has an effect only if something is selected.
  field.value = " ";
  field.select();
  document.addEventListener("copy", fill, { capture: true, once: true });
  const isDone = document.execCommand("copy");
  document.removeEventListener("copy", fill, { capture: true });
  field.value = "";
  return isDone;
}

/** What a paste of the person contains: text, HTML and files. */
type Pasted = { text: string; html: string | undefined; files: File[] };

/** Reads a paste event. */
export function readPaste(data: DataTransfer): Pasted {
  const html = data.getData("text/html");
  return { text: data.getData("text/plain"), html: html === "" ? undefined : html, files: [...data.files] };
}

/** Converts a paste into the items of a request. */
export async function toItems({ text, html, files }: Pasted): Promise<PastedItem[]> {
  const items: PastedItem[] = text === "" ? [] : [{ type: "text/plain", text }];
  if (html !== undefined) items.push({ type: "text/html", text: html });
  for (const file of files)
    items.push({ type: typeOf(file), name: file.name || "file", base64: await toBase64(file) });
  return items;
}

const typeOf = ({ type }: File): string =>
  /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : "application/octet-stream";

const toBase64 = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    // The cast is safe: a data URL is text. An empty file has no comma.
    reader.onload = () => resolve((reader.result as string).split(",")[1] ?? "");
    reader.readAsDataURL(file);
  });
