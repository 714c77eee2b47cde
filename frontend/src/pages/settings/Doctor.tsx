/** The section Doctor: runs the checks and shows OK, Check or Broken with a hint. The host makes the checks. */

import { useQuery } from "@tanstack/react-query";

import { run } from "../../api/client";
import { Loading } from "../../ui/Loading";
import { Status, type Shape } from "../../ui/Status";
import { ErrorBox } from "../../ui/ErrorBox";
import { TEXT } from "./text";

const SHOWN: Record<string, { shape: Shape; word: string }> = {
  ok: { shape: "done", word: "OK" },
  warning: { shape: "retry", word: "Check" },
  broken: { shape: "fail", word: "Broken" },
};

/** What is there and what is not, each with its fix; looked at when asked. */
export function Doctor() {
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["doctor"],
    queryFn: () => run("doctor", {}),
    enabled: false,
  });
  return (
    <section className="settings-section" id="doctor">
      <h2>Doctor</h2>
      <p>{TEXT.doctor}</p>
      <button type="button" className="btn small" disabled={isFetching} onClick={() => void refetch()}>
        {data ? "Run again" : "Run doctor"}
      </button>
      {isFetching && !data && <Loading rows={4} />}
      {error && <ErrorBox error={error} />}
      <ul className="space-above-10" aria-live="polite">
        {data?.checks.map((check) => {
          const shown = SHOWN[check.verdict] ?? { shape: "wait" as const, word: check.verdict };
          return (
            <li key={check.name} className="setting-row">
              <b className="medium">{check.name}</b>
              <p>
                {check.detail} {check.hint}
              </p>
              <span className="setting-control">
                <Status shape={shown.shape} word={shown.word} />
              </span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
