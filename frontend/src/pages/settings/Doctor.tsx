import { useQuery } from "@tanstack/react-query";

import { run } from "../../api/client";
import { Loading } from "../../ui/Loading";
import { Status, type Shape } from "../../ui/Status";
import { Trouble } from "../../ui/Trouble";
import { WORDS } from "./words";

const SHOWN: Record<string, { shape: Shape; word: string }> = {
  ok: { shape: "done", word: "Well" },
  warning: { shape: "retry", word: "Look" },
  broken: { shape: "fail", word: "Broken" },
};

/** What is there and what is not, each with its fix; looked at when asked. */
export function Doctor() {
  const { data, error, isFetching, refetch } = useQuery({ queryKey: ["doctor"], queryFn: () => run("doctor", {}), enabled: false });
  return (
    <section className="sg" id="doctor">
      <h2>Doctor</h2>
      <p>{WORDS.doctor}</p>
      <button type="button" className="btn sm" disabled={isFetching} onClick={() => void refetch()}>
        {data ? "Look again" : "Run the doctor"}
      </button>
      {isFetching && !data && <Loading rows={4} />}
      {error && <Trouble error={error} />}
      <ul aria-live="polite" style={{ marginTop: 10 }}>
        {data?.checks.map((check) => {
          const shown = SHOWN[check.verdict] ?? { shape: "wait" as const, word: check.verdict };
          return (
            <li key={check.name} className="se">
              <b className="b">{check.name}</b>
              <p>
                {check.detail} {check.hint}
              </p>
              <span className="v"><Status shape={shown.shape} word={shown.word} /></span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
