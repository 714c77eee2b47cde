/** What an imported workflow reads, runs and sends, listed before it runs for the first time. The host finds it
 * out. */

import { reveal } from "../../ui/hidden";
import { REVIEW } from "./text/editor";

/** What an imported workflow reads, runs and sends, before it runs for the first time. */
export function Review({ does }: { does: readonly string[] }) {
  return (
    <section aria-label={REVIEW.title}>
      <p>{does.length > 0 ? REVIEW.about : REVIEW.nothing}</p>
      <ul className="space-above-6 text-small">
        {does.map((line) => (
          <li key={line}>{reveal(line)}</li>
        ))}
      </ul>
    </section>
  );
}
