/** The shapes of the host's answers that this dialog works with, under short names. */

import type { Params, Result } from "../../api/client";

export type Recognised = Result<"recognise">;
export type RecognisedServer = Recognised["servers"][number];
export type PasteKind = Recognised["kind"];
export type LookAlike = NonNullable<RecognisedServer["lookalike"]>;
export type Needed = RecognisedServer["needed"][number];
export type Proposed = Result<"propose">;
export type Launch = Result<"launch">;
export type Listed = Result<"search_servers">["servers"][number];
export type IncludedChoice = Result<"included_choices">[number];
/** What is to be added. */
export type Request = Params<"propose">;
export type Answers = Record<string, string>;
export type Setup = Result<"setups">[number];
export type Step = Setup["steps"][number];
