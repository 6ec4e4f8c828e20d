import type { Metadata } from "next";
import { headers } from "next/headers";
import { loadReference } from "#lib/api/next/mount.ts";
import { Reference } from "./reference.tsx";

export const metadata: Metadata = { title: "API reference" };

/** The API reference: the OpenAPI document as a page. */
export default async function DocsPage() {
  // Reading the headers makes Next render the page per request, which the document and the CSP nonce require.
  await headers();
  return <Reference document={await loadReference()} />;
}
