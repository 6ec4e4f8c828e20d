/** Tailwind reads the classes in `app` and `components` and writes the style sheet. */
export default { plugins: { "@tailwindcss/postcss": {} } };
