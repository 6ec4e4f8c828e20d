import type { Metadata } from "next";
import { headers } from "next/headers";
import { loadReference } from "#lib/api/next/mount.ts";
import { Reference } from "./reference.tsx";

export const metadata: Metadata = { title: "API reference" };

/** The API reference: shows the OpenAPI document as a page. */
export default async function DocsPage() {
  // The page depends on the request, because of the document and the CSP nonce. Reading the headers makes Next render it for
  // each request.
  await headers();
  return <Reference document={await loadReference()} />;
}
