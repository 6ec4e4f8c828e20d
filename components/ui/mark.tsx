/** Shows the logo of the service: a page and a pointer. */
export function Mark() {
  return (
    <svg
      viewBox="0 0 20 20"
      className="size-5"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.75"
      aria-hidden="true"
    >
      <rect x="1.9" y="3.4" width="16.2" height="13.2" rx="3" />
      <path
        fill="currentColor"
        strokeWidth="0"
        d="M8 7.3v7c0 .5.5.7.8.3l1.7-1.7h2.4c.5 0 .7-.5.3-.8L8.7 7c-.2-.3-.7-.1-.7.3Z"
      />
    </svg>
  );
}
