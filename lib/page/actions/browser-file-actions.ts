import { type ActionOutcome, callAction } from "./call-action.ts";

/** The actions with which a person gives files to a page of the live browser. Source: `wire.md`, The stage. */
export type BrowserFileActions = {
  listWorkspaceFiles: () => Promise<
    ActionOutcome<{ files: { path: string; sizeBytes: number }[]; isComplete: boolean }>
  >;
  /** Adds a file of the workspace to the page's file chooser. */
  addWorkspaceFile: (widgetId: string, path: string) => Promise<ActionOutcome<unknown>>;
  /**
   * Uploads a file of the person's machine to the page's file chooser.
   * @param onProgress called with the part that was sent, from 0 to 1.
   */
  giveFile: (
    widgetId: string,
    file: File,
    onProgress: (part: number) => void,
  ) => Promise<ActionOutcome<unknown>>;
};

/** Largest file that the service takes. */
const FILE_BYTES_MAX = 10 * 2 ** 20;
const UPLOAD_MS_MAX = 300_000;

/**
 * @param actions path of the session's actions.
 * @param headers headers of uploads, which `fetcher` does not send.
 */
export function createBrowserFileActions(
  actions: string,
  fetcher: typeof fetch,
  connectionId: () => string | null,
  headers: Readonly<Record<string, string>> = {},
): BrowserFileActions {
  const path = `${actions}/browser/files`;
  return {
    listWorkspaceFiles: () => callAction(fetcher, "GET", path),
    addWorkspaceFile: (widgetId, file) =>
      callAction(fetcher, "POST", path, { widgetId, connectionId: connectionId(), path: file }),
    async giveFile(widgetId, file, onProgress) {
      if (file.size > FILE_BYTES_MAX)
        return refuse(`${file.name} is larger than ${FILE_BYTES_MAX / 2 ** 20} MiB.`);
      const content = await readBase64(file);
      if (content === undefined) return refuse(`${file.name} could not be read.`);
      const mediaType = file.type === "" ? {} : { mediaType: file.type };
      const body = { widgetId, connectionId: connectionId(), name: file.name, ...mediaType, content };
      const sender: typeof fetch = (to, init) =>
        sendWithProgress(String(to), init?.body, headers, onProgress);
      return callAction(sender, "POST", path, body, { timeoutMs: UPLOAD_MS_MAX });
    },
  };
}

const refuse = (error: string): ActionOutcome<never> => ({ isDone: false, status: 0, error });

/** Sends a JSON body as `fetch` does, which reports no progress. */
function sendWithProgress(
  path: string,
  body: BodyInit | null | undefined,
  headers: Readonly<Record<string, string>>,
  onProgress: (part: number) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    request.setRequestHeader("content-type", "application/json");
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.timeout = UPLOAD_MS_MAX;
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0);
    request.onload = () => resolve(new Response(request.responseText, { status: request.status }));
    request.onerror = () => reject(new TypeError("the upload failed"));
    request.ontimeout = () => reject(new TypeError("the upload took too long"));
    request.send(body as XMLHttpRequestBodyInit);
  });
}

function readBase64(file: File): Promise<string | undefined> {
  return new Promise((resolve) => {
    const reader = new FileReader();
    // A data URL has the bytes after its first comma.
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1] ?? "");
    reader.onerror = () => resolve(undefined);
    reader.readAsDataURL(file);
  });
}
