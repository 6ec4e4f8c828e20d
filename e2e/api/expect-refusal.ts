import { expect } from "@playwright/test";

/** Checks a refusal in the one envelope, with its exact sentence where one is given. Source: `wire.md`, Errors. */
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

/** Checks a refusal that is the sentence alone, where the specification prints it so. */
export async function expectBare(response: Response, status: number, error: string): Promise<void> {
  expect({ status: response.status, body: await response.json() }).toEqual({ status, body: { error } });
}
