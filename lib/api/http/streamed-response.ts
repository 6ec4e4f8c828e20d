const responses = new WeakSet<Response>();

/**
 * Marks a response whose body is produced while it is sent. The server sends such a body part by part, no faster than the
 * client reads it. Any other body is in memory and is sent at once.
 */
export function streamed(response: Response): Response {
  responses.add(response);
  return response;
}

/** Whether {@link streamed} has marked a response. */
export const isStreamed = (response: Response): boolean => responses.has(response);
