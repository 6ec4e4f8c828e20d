"use client";

import { useRef, useState } from "react";
import { formatSize } from "#lib/page/labels/format.ts";
import { useRuntime } from "../runtime/session-context.tsx";

/** A file that a person uploads. `path` is set once the workspace has it. */
export type Upload = {
  id: number;
  name: string;
  sizeBytes: number;
  mediaType: string;
  /** The share that was sent, from 0 to 1. */
  progress: number;
  path: string | null;
  error: string | null;
};

/** The largest file that the service takes. */
const FILE_BYTES_MAX = 16 * 2 ** 20;

/**
 * Uploads files to a folder of the workspace, one after the other.
 * @param countMax how many files may be there at once; more are refused.
 */
export function useUploads(folder: string, countMax = 100) {
  const { actions } = useRuntime();
  const [uploads, setUploads] = useState<Upload[]>([]);
  const running = useRef(new Map<number, AbortController>());
  const lastId = useRef(0);
  const queue = useRef(Promise.resolve());

  const change = (id: number, fields: Partial<Upload>) =>
    setUploads((all) => all.map((each) => (each.id === id ? { ...each, ...fields } : each)));

  async function upload(id: number, file: File): Promise<void> {
    const controller = running.current.get(id);
    if (!controller) return;
    const onProgress = (progress: number) => change(id, { progress });
    const outcome = await actions.uploadFile(folder, file, { signal: controller.signal, onProgress });
    running.current.delete(id);
    if (!outcome.isDone) return change(id, { error: outcome.error });
    // The person has removed the file while it was sent.
    if (controller.signal.aborted) return void actions.removeFile(outcome.answer.path);
    change(id, { progress: 1, path: outcome.answer.path });
  }

  function add(files: Iterable<File>): void {
    let count = uploads.filter(({ error }) => error === null).length;
    for (const file of files) {
      lastId.current += 1;
      const id = lastId.current;
      count += 1;
      const error =
        count > countMax
          ? `At most ${countMax} files.`
          : file.size > FILE_BYTES_MAX
            ? `Too large: a file may have ${formatSize(FILE_BYTES_MAX)}.`
            : null;
      const { name, size: sizeBytes, type: mediaType } = file;
      setUploads((all) => [...all, { id, name, sizeBytes, mediaType, progress: 0, path: null, error }]);
      if (error !== null) continue;
      running.current.set(id, new AbortController());
      queue.current = queue.current.then(() => upload(id, file));
    }
  }

  /** Removes a file from the list, and also from the workspace if it was not used yet. */
  function remove({ id, path }: Upload): void {
    running.current.get(id)?.abort();
    running.current.delete(id);
    setUploads((all) => all.filter((each) => each.id !== id));
    if (path !== null) void actions.removeFile(path);
  }

  return {
    uploads,
    add,
    remove,
    /** Removes files from the list only. */
    forget: (gone: readonly Upload[]) =>
      setUploads((all) => all.filter(({ id }) => !gone.some((each) => each.id === id))),
  };
}
