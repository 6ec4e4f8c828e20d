import { createHash } from "node:crypto";
import { mediaTypeOf } from "#lib/publication/landing/media-type.ts";
import { isSafeName } from "#lib/publication/landing/page-address.ts";
import { PAGE_LIMITS } from "#lib/publication/landing/page-limits.ts";
import type { PageFile } from "#lib/publication/landing/page-store.ts";
import { parseWorkspacePath } from "#lib/sandbox/parse-workspace-path.ts";
import type { Workspace, WorkspaceEntry } from "#lib/sandbox/sandbox-service.ts";
import { mebibytes } from "#lib/session/byte-limits.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";

/** The files of a folder, in the form in which a page stores them. */
export type FolderContent = {
  /** The folder's path in the workspace. */
  folder: string;
  files: PageFile[];
  /** The contents of the files by their SHA-256 hashes. Files with equal contents share one entry. */
  contents: Map<string, Uint8Array>;
  /** SHA-256 of all paths and hashes, so that two folders with the same files have the same digest. */
  digest: string;
  sizeBytes: number;
  /** Paths of the hidden files and folders, such as `.env`. They are not published. */
  hidden: string[];
};

/** A sentence that says why a folder cannot become a page. */
type FolderRefusal = { problem: string };

const READS_AT_ONCE = 8;
/**
 * Maximum number of entries that are listed in one folder. It is higher than the maximum number of files of a page,
 * because hidden files are listed too.
 */
const ENTRIES_MAX = 5_000;
const FOLDERS_MAX = 1_000;
/**
 * Maximum number of entries that are listed in each folder on the path to the page's folder. A workspace cannot have
 * that many entries, so all of them are listed.
 */
const PARENT_ENTRIES_MAX = 50_000;

/**
 * Reads the files of a page from its folder. Leaves out hidden files and folders. Refuses the whole folder if it cannot
 * become a page, for example because it has no `index.html`, too many files, or a symbolic link.
 *
 * @throws WorkspaceError if the workspace refuses the path.
 */
export async function readFolder(workspace: Workspace, path: string): Promise<FolderContent | FolderRefusal> {
  const names = parseWorkspacePath(path);
  const folder = names.join("/");
  const misplaced = await refusePlace(workspace, names);
  if (misplaced !== undefined) return { problem: misplaced };
  const listed = await listFolder(workspace, folder);
  if ("problem" in listed) return listed;
  const { entries, hidden } = listed;
  const problem = refuseFiles(entries, folder);
  if (problem !== undefined) return { problem };
  const read = await readFiles(workspace, entries, folder);
  return "problem" in read ? read : { folder, hidden, ...read };
}

/**
 * Returns why a path cannot be the folder of a page, or undefined if it can. A path through a symbolic link is refused.
 */
async function refusePlace(workspace: Workspace, names: string[]): Promise<string | undefined> {
  if (names.length === 0)
    return "folder: must be a folder inside the workspace, not the workspace itself; put the files of the page into one";
  for (const [index, name] of names.entries()) {
    const path = names.slice(0, index + 1).join("/");
    if (name.startsWith(".")) return `folder: ${path} is hidden; hidden folders are not published`;
    if (!isSafeName(name))
      return `folder: ${JSON.stringify(path)} has a character that a page's path cannot have`;
    const parent = names.slice(0, index).join("/");
    const entries = await workspace.list(parent, {
      recursive: false,
      limit: PARENT_ENTRIES_MAX,
      all: true,
    });
    const entry = entries.find((each) => each.path === path);
    if (!entry) return `folder: ${path} does not exist in the workspace`;
    if (entry.type === "link") return `folder: ${path} is a symbolic link; name the folder itself`;
    if (entry.type !== "directory") return `folder: ${path} is not a folder that can be read`;
  }
  return undefined;
}

const isHidden = ({ path }: WorkspaceEntry): boolean => path.slice(path.lastIndexOf("/") + 1).startsWith(".");

/**
 * Lists the files in a folder and its subfolders, level by level. Hidden files and folders are listed separately.
 * Returns a refusal if there are too many files or folders.
 */
async function listFolder(
  workspace: Workspace,
  folder: string,
): Promise<{ entries: WorkspaceEntry[]; hidden: string[] } | FolderRefusal> {
  const waiting = [folder];
  const entries: WorkspaceEntry[] = [];
  const hidden: string[] = [];
  for (const path of waiting) {
    const found = await workspace.list(path, { recursive: false, limit: ENTRIES_MAX, all: true });
    for (const entry of found) {
      if (isHidden(entry)) hidden.push(inside(folder, entry));
      else if (entry.type === "directory") waiting.push(entry.path);
      else entries.push(entry);
    }
    if (entries.length > PAGE_LIMITS.files || waiting.length > FOLDERS_MAX || found.length === ENTRIES_MAX)
      return {
        problem: `${folder} has too many files; a page may have ${PAGE_LIMITS.files}. Deploy a folder with the built page alone`,
      };
  }
  return { entries, hidden };
}

const inside = (folder: string, { path }: WorkspaceEntry): string => path.slice(folder.length + 1);
/** Quotes a path of the workspace. Its control characters are escaped already (`lib/disk/file-name.ts`). */
const quote = (path: string): string => `"${path}"`;

/** Returns why the files of a folder cannot become a page, or undefined if they can. */
function refuseFiles(entries: readonly WorkspaceEntry[], folder: string): string | undefined {
  const paths = new Map<string, string>();
  for (const entry of entries) {
    const path = inside(folder, entry);
    if (entry.type === "link")
      return `${quote(path)} is a symbolic link; put a copy of the file in its place`;
    if (entry.type !== "file") return `${quote(path)} is neither a file nor a folder that can be read`;
    if (!path.split("/").every(isSafeName))
      return `${quote(path)} has a control character, a backslash or bytes that are not UTF-8 in its name; rename it`;
    if (path.length > PAGE_LIMITS.pathCharacters)
      return `the path ${quote(beginningOf(path, 60))}… is longer than ${PAGE_LIMITS.pathCharacters} characters`;
    if (entry.sizeBytes > PAGE_LIMITS.fileBytes) return describeTooLarge(path, entry.sizeBytes);
    const folded = path.normalize("NFC").toLowerCase();
    const other = paths.get(folded);
    if (other !== undefined)
      return `${quote(other)} and ${quote(path)} differ only in upper and lower case; rename one of them`;
    paths.set(folded, path);
  }
  if (!entries.some((entry) => inside(folder, entry) === "index.html"))
    return `${folder} has no index.html; a page needs one at the root of its folder`;
  return refuseSize(entries.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
}

const refuseSize = (sizeBytes: number): string | undefined =>
  sizeBytes > PAGE_LIMITS.bytes
    ? `the files have ${mebibytes(sizeBytes)}; a page may have ${mebibytes(PAGE_LIMITS.bytes)}`
    : undefined;

const describeTooLarge = (path: string, sizeBytes: number): string =>
  `${quote(path)} has ${mebibytes(sizeBytes)}; a file of a page may have ${mebibytes(PAGE_LIMITS.fileBytes)}`;

/** Reads the files. A command may have changed the files after they were listed, so the limits are checked again. */
async function readFiles(
  workspace: Workspace,
  entries: readonly WorkspaceEntry[],
  folder: string,
): Promise<Omit<FolderContent, "folder" | "hidden"> | FolderRefusal> {
  const files: PageFile[] = [];
  const contents = new Map<string, Uint8Array>();
  let sizeBytes = 0;
  for (let at = 0; at < entries.length; at += READS_AT_ONCE) {
    const group = entries.slice(at, at + READS_AT_ONCE);
    const read = await Promise.all(
      group.map((entry) => workspace.readFile(entry.path, PAGE_LIMITS.fileBytes)),
    );
    for (const [index, { bytes, totalBytes }] of read.entries()) {
      const entry = group[index];
      if (!entry) continue;
      const path = inside(folder, entry);
      if (totalBytes > bytes.byteLength) return { problem: describeTooLarge(path, totalBytes) };
      sizeBytes += bytes.byteLength;
      const problem = refuseSize(sizeBytes);
      if (problem !== undefined) return { problem };
      const hash = createHash("sha256").update(bytes).digest("hex");
      contents.set(hash, bytes);
      files.push({ path, hash, sizeBytes: bytes.byteLength, mediaType: mediaTypeOf(path) });
    }
  }
  files.sort((one, other) => (one.path < other.path ? -1 : 1));
  const digest = createHash("sha256");
  for (const { path, hash } of files) digest.update(`${path}\0${hash}\n`);
  return { files, contents, digest: digest.digest("hex"), sizeBytes };
}
