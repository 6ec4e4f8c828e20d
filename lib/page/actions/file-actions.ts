import type { WorkspaceFile, WorkspaceFilePage } from "../state/view-types.ts";
import { type ActionOutcome, callAction, pick, sentenceOf } from "./call-action.ts";

/** A preview of a text file: its beginning. */
type TextPreview = { text: string; isCut: boolean };

/** What a visitor can do with the files of the workspace. Source: `wire.md`, Files. */
export type FileActions = {
  /** Reads a page of a folder's files; `""` is the root. */
  readFiles: (folder: string, cursor: string | null) => Promise<ActionOutcome<WorkspaceFilePage>>;
  /** Reads the beginning of a file as text. */
  readText: (path: string) => Promise<ActionOutcome<TextPreview>>;
  removeFile: (path: string) => Promise<ActionOutcome<unknown>>;
  /**
   * Stores a file that a person chose. If the name is taken, the service adds a number to it. `onProgress` gets the share that was
   * sent, from 0 to 1.
   */
  uploadFile: (
    folder: string,
    file: File,
    options: { signal: AbortSignal; onProgress: (share: number) => void },
  ) => Promise<ActionOutcome<WorkspaceFile>>;
};

const PREVIEW_BYTES = 64 * 1_024;
/** How long an upload may make no progress. */
const STALLED_MS = 30_000;
const UNREACHABLE = "The service did not answer. Check that it runs, then try again.";

/** Writes the address of a file below the path of the files. */
export const addressOf = (files: string, path: string): string =>
  `${files}/${path.split("/").map(encodeURIComponent).join("/")}`;

/**
 * @param files the path of the session's files.
 * @param headers headers of uploads, which `fetcher` does not send.
 */
export function createFileActions(
  files: string,
  fetcher: typeof fetch,
  headers: Readonly<Record<string, string>> = {},
): FileActions {
  return {
    readFiles: (folder, cursor) => {
      const query = new URLSearchParams({ ...(folder && { path: folder }), ...(cursor && { cursor }) });
      return callAction(fetcher, "GET", `${files}${query.size > 0 ? `?${query}` : ""}`);
    },
    readText: (path) =>
      callAction<TextPreview>(fetcher, "GET", addressOf(files, path), undefined, {
        headers: { range: `bytes=0-${PREVIEW_BYTES - 1}` },
        async read(response) {
          const bytes = await response.arrayBuffer();
          const total = Number(
            /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1] ?? bytes.byteLength,
          );
          return { text: new TextDecoder().decode(bytes, { stream: true }), isCut: total > bytes.byteLength };
        },
      }),
    removeFile: (path) => callAction(fetcher, "DELETE", addressOf(files, path)),
    async uploadFile(folder, file, options) {
      const path = [...(folder ? [folder] : []), toFileName(file.name)].join("/");
      return pick(await put(`${addressOf(files, path)}?ifExists=rename`, file, headers, options), "file");
    },
  };
}

/** Returns a name that a file of the workspace can have. */
function toFileName(name: string): string {
  const plain = name
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a name should not contain.
    .replace(/[\u0000-\u001f\u007f/\\]/g, "_")
    .slice(-80);
  return /^\.*$/.test(plain) ? "file" : plain;
}

/** Sends a new file. Uses XMLHttpRequest, because `fetch` does not report the progress of an upload. */
function put(
  address: string,
  file: File,
  headers: Readonly<Record<string, string>>,
  { signal, onProgress }: Parameters<FileActions["uploadFile"]>[2],
): Promise<ActionOutcome<{ file: WorkspaceFile }>> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    let timer = setTimeout(() => request.abort(), STALLED_MS);
    const end = (outcome: ActionOutcome<{ file: WorkspaceFile }>) => {
      clearTimeout(timer);
      resolve(outcome);
    };
    const fail = (error: string) => end({ isDone: false, status: 0, error });
    request.open("PUT", address);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.responseType = "json";
    request.upload.onprogress = ({ loaded, total }) => {
      clearTimeout(timer);
      timer = setTimeout(() => request.abort(), STALLED_MS);
      onProgress(total > 0 ? loaded / total : 1);
    };
    request.onload = () => {
      const { status, response } = request;
      // The cast holds because the service sends what its contract says.
      if (status === 200 || status === 201)
        end({ isDone: true, answer: response as { file: WorkspaceFile } });
      else end({ isDone: false, status, error: sentenceOf(response, status) });
    };
    request.onerror = () => fail(UNREACHABLE);
    request.onabort = () => fail(signal.aborted ? "The upload was stopped." : UNREACHABLE);
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(file);
  });
}
