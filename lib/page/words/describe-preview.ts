import type { Preview } from "../state/view-types.ts";
import { VIEWPORT_NAMES } from "./describe-check.ts";

/** Describes a preview: whether it shows a variant, and at which width. */
export function describePreview({ variant, revision, viewport }: Preview): {
  /** `Control`, `main, revision 3`. */
  subject: string;
  /** `Phone`, `1024 × 768`. */
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
