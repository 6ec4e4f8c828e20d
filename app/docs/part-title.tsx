/** Shows the heading of one part of an operation. */
export const PartTitle = ({ children }: { children: string }) => (
  <h4 className="mt-6 mb-1 font-semibold text-sm">{children}</h4>
);
