/** The part of the SDK's `APIError` that is read here. The class itself is loaded only where the SDK is used. */
type ApiErrorShape = { response?: { status?: number }; json?: { error?: { code?: string } } };

const shapeOf = (error: unknown): ApiErrorShape => (error instanceof Error ? (error as ApiErrorShape) : {});

/** Whether an error is an answer of Vercel's API with one of these statuses. */
export const hasStatus = (error: unknown, ...statuses: number[]): boolean =>
  statuses.includes(shapeOf(error).response?.status ?? 0);

/** Whether a call failed because the box is stopped, stopping or taking a snapshot. */
export const isStopped = (error: unknown): boolean =>
  hasStatus(error, 410) ||
  (hasStatus(error, 422) &&
    ["sandbox_stopping", "sandbox_snapshotting"].includes(shapeOf(error).json?.error?.code ?? ""));

export const isSnapshotGone = (error: unknown): boolean =>
  hasStatus(error, 410) && shapeOf(error).json?.error?.code === "snapshot_not_found";
