import type { Preview } from "../state/view-types.ts";
import { VIEWPORT_NAMES } from "./describe-check.ts";

/** Describes a preview: which variant it shows, if any, and at which width. */
export function describePreview({ variant, revision, viewport }: Preview): {
  /** What the preview shows: `Control` or `main, revision 3`. */
  subject: string;
  /** The width of the page by name, or its size: `Phone` or `1024 × 768`. */
  viewport: string;
} {
  const subject =
    variant === null ? "Control" : revision === null ? variant : `${variant}, revision ${revision}`;
  return {
    subject,
    viewport:
      viewport.name === null ? `${viewport.width} × ${viewport.height}` : VIEWPORT_NAMES[viewport.name],
  };
}
