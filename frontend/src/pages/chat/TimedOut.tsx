/** A call that got no answer in time, and the button "Allow 10 min for this tool". */

import { useState } from "react";

import { run } from "../../api/client";
import { sentence } from "../../api/errors";
import { notify } from "../../app/notices";
import { duration } from "../../ui/amounts";
import type { CallView } from "./view";
import { TEXT } from "./text";

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
      notify(TEXT.longer(call.name), () => void set(0, () => setGiven(false)));
    });
  return (
    <div className="reason timed-out">
      <span className="timed-out-text">{TEXT.noAnswer(duration(call.ms))}</span>
      {call.server !== null && (
        <button type="button" className="btn small" disabled={given} onClick={give}>
          {TEXT.allowLonger}
        </button>
      )}
    </div>
  );
}
