import { expect } from "@playwright/test";

/**
 * Checks that a response is an error in the error envelope. `error` is the exact sentence or a pattern for it. Without
 * `error`, any sentence is accepted. Source: `wire.md`, Errors.
 */
export async function expectRefusal(
  response: Response,
  status: number,
  code: string,
  error?: string | RegExp,
): Promise<void> {
  const body: unknown = await response.json();
  expect({ status: response.status, body }).toEqual({
    status,
    body: {
      success: false,
      code,
      error: typeof error === "string" ? error : expect.stringMatching(error ?? /./),
    },
  });
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
}

/**
 * Checks that a response is an error whose body has only the field `error`. The specification prescribes this form for
 * some operations.
 */
export async function expectBare(response: Response, status: number, error: string): Promise<void> {
  expect({ status: response.status, body: await response.json() }).toEqual({ status, body: { error } });
}
