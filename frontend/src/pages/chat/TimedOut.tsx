import { useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { notify } from "../../app/notices";
import { duration } from "../../ui/amounts";
import type { CallView } from "./view";
import { WORDS } from "./words";

const LONGER = 600;

/** No answer in time, and the way to give the tool more of it. */
export function TimedOut({ call }: { call: CallView }) {
  const [given, setGiven] = useState(false);
  async function set(seconds: number, then: () => void) {
    try {
      await run("tool_set", { name: call.tool, timeout: seconds });
      then();
    } catch (error) {
      notify(sentence(error));
    }
  }
  const give = () =>
    void set(LONGER, () => {
      setGiven(true);
      notify(WORDS.longer(call.name), () => void set(0, () => setGiven(false)));
    });
  return (
    <div className="why" style={{ alignItems: "center", flexWrap: "wrap" }}>
      <span style={{ flex: "1 1 240px" }}>{WORDS.noAnswer(duration(call.ms))}</span>
      {call.server !== null && (
        <button type="button" className="btn sm" disabled={given} onClick={give}>{WORDS.allowLonger}</button>
      )}
    </div>
  );
}
