import { z } from "zod";

const isRegExp = (text: string): boolean => {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
};

const isWebAddress = (text: string): boolean => /^https?:$/.test(URL.parse(text)?.protocol ?? "");

/** The options of a test run, as the tool and the API operations accept them. */
export const testRunOptions = {
  baseUrl: z.string().max(2_000).refine(isWebAddress, "must be an http(s) URL"),
  grep: z.string().min(1).max(500).refine(isRegExp, "must be a regular expression"),
  retries: z.int().min(0).max(3).default(0).describe("how often a failed test is tried again"),
  viewport: z.enum(["desktop", "tablet", "phone"]).default("desktop"),
  timeoutSeconds: z.int().min(10).max(900).default(300).describe("for all tests together"),
};
