"use client";

import { type ReactNode, useRef } from "react";
import { IconButton } from "../ui/icon-button.tsx";

/** Shows an icon button that lets a person choose files. */
export function FileButton({
  label,
  onFiles,
  children,
}: {
  label: string;
  onFiles: (files: File[]) => void;
  children: ReactNode;
}) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={({ target }) => {
          onFiles([...(target.files ?? [])]);
          // The same file can then be chosen again.
          target.value = "";
        }}
      />
      <IconButton type="button" label={label} size="icon-sm" onClick={() => input.current?.click()}>
        {children}
      </IconButton>
    </>
  );
}
