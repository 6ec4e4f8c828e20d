/** The demo shop is static; its short address leads to the first page. The address is relative, as the Host header is not trusted. */
export function GET(): Response {
  return new Response(null, { status: 307, headers: { location: "/demo/index.html" } });
}
