/** The shape of the session page while it is read. */
export default function LoadingSession() {
  return (
    <div className="flex h-dvh flex-col" role="status">
      <span className="sr-only">Opening the session</span>
      <div className="flex h-12 items-center gap-3 border-b bg-surface px-4">
        <span className="size-5 rounded-md bg-hover" />
        <span className="h-4 w-56 max-w-[50%] rounded-sm bg-hover" />
      </div>
      <div className="flex min-h-0 flex-1">
        <div className="flex w-full flex-col gap-3 p-4 lg:w-[clamp(400px,34vw,480px)]">
          <span className="h-16 rounded-lg bg-hover" />
          <span className="mt-3 h-4 w-4/5 rounded-sm bg-hover" />
          <span className="h-4 w-3/5 rounded-sm bg-hover" />
        </div>
        <div className="flex-1 border-l bg-sunken max-lg:hidden" />
      </div>
    </div>
  );
}
