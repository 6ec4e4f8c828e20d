/**
 * Redirects to the first page of the static demo shop. The location is relative because the Host header is not trusted.
 */
export function GET(request: Request): Response {
  const location = `/demo/index.html${new URL(request.url).search}`;
  return new Response(null, { status: 307, headers: { location } });
}
