import { useEffect, useState } from "react";
import { useFrameAccess } from "./session-context.tsx";

/**
 * Returns the address from which an image loads a stored file. In a frame, where images have no cookie, this is the
 * address of a copy that the page has read; undefined until then.
 *
 * @param path the file's path; null for none.
 */
export function useStoredAddress(path: string | null): string | undefined {
  const frame = useFrameAccess();
  const [copy, setCopy] = useState<string>();
  useEffect(() => {
    if (!frame || path === null) return;
    const aborted = new AbortController();
    let address: string | undefined;
    void frame.readStored(path, aborted.signal).then((blob) => {
      if (aborted.signal.aborted) return;
      address = blob && URL.createObjectURL(blob);
      // An image without bytes fails to load, as a file that does not exist.
      setCopy(address ?? "data:,");
    });
    return () => {
      aborted.abort();
      if (address !== undefined) URL.revokeObjectURL(address);
    };
  }, [frame, path]);
  return frame ? copy : (path ?? undefined);
}
