/** Adding and testing that goes on when its dialog is closed: one trial a server, kept outside of any component. */

import { useSyncExternalStore } from "react";

import { run, stream, type Params, type Result } from "../../api/client";
import { ApiError } from "../../api/errors";
import { queries } from "../../api/hooks";
import { notify } from "../../app/notices";
import { plural } from "../../ui/amounts";
import type { Launch, Proposed, Request } from "./data";
import { TEST } from "./words";

export type StepKey = "resolve" | "install" | "start" | "connect" | "handshake" | "list" | "review";

export interface Step {
  key: StepKey;
  state: "wait" | "work" | "done" | "fail";
  detail: string;
  ms: number | null;
  began: number | null;
}

export interface Trial {
  name: string;
  steps: Step[];
  began: number;
  ended: number | null;
  state: "running" | "ok" | "failed" | "stopped";
  /** How much of an installation is done, where it can be counted. */
  progress: { done: number; total: number; detail: string } | null;
  installing: boolean;
  error: { kind: string; message: string; hint: string } | null;
  review: string[];
  tools: number;
  log: string[];
}

const trials = new Map<string, Trial>();
const aborts = new Map<string, AbortController>();
const watchers = new Set<() => void>();
let snapshot: readonly Trial[] = [];

function tell(): void {
  snapshot = [...trials.values()];
  watchers.forEach((watcher) => watcher());
}

function change(name: string, update: Partial<Trial>): void {
  const trial = trials.get(name);
  if (!trial) return;
  trials.set(name, { ...trial, ...update });
  tell();
}

export function useTrials(): readonly Trial[] {
  return useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => void watchers.delete(watcher);
    },
    () => snapshot,
  );
}

/** Nobody needs it any more. */
export function forgetTrial(name: string): void {
  if (trials.get(name)?.state === "running") return;
  trials.delete(name);
  tell();
}

/** End it; whatever was started for it ends too, and what was half installed goes. */
export function stopTrial(name: string): void {
  aborts.get(name)?.abort();
}

/** Add what was proposed, trust exactly that, test it. */
export function addAndTest(request: Request, proposed: Proposed, launch: Launch): void {
  const installs = proposed.plan !== "";
  const found = installs ? { detail: `${proposed.version} found`, ms: proposed.ms } : null;
  begin(proposed.name, launch, installs, found, async (signal) => {
    if (installs) work(proposed.name, "install");
    const admitted = await stream(
      "admit",
      { ...request, name: proposed.name, mark: launch.mark, plan: proposed.plan },
      (news) => installed(proposed.name, news),
      signal,
    );
    if (installs) done(proposed.name, "install", admitted.packages > 0 ? plural(admitted.packages, "package") : "copied", admitted.ms);
    change(proposed.name, { installing: false, progress: null });
    await trustAndTest(proposed.name, launch.mark, signal);
  });
}

/** Trust a server that is configured already, install what it needs, test it. */
export function agreeAndTest(launch: Launch): void {
  const installs = !launch.installed;
  begin(launch.name, launch, installs, null, async (signal) => {
    if (installs) {
      work(launch.name, "install");
      await stream("install", { name: launch.name }, (news) => installed(launch.name, news as InstallNews), signal);
      done(launch.name, "install", "in place", null);
      change(launch.name, { installing: false, progress: null });
    }
    await trustAndTest(launch.name, launch.mark, signal);
  });
}

/** Only test. */
export function testServer(name: string, type: string): void {
  begin(name, { type }, false, null, (signal) => test(name, signal));
}

type InstallNews = { stage: string; detail: string; done: number; total: number };

function installed(name: string, news: InstallNews): void {
  const progress = { done: news.done, total: news.total, detail: news.detail };
  change(name, { progress });
  const words = news.total > 0 ? `${news.done} of ${plural(news.total, "package")}` : news.detail;
  set(name, "install", { detail: words });
}

async function trustAndTest(name: string, mark: string, signal: AbortSignal): Promise<void> {
  await run("trust", { names: [name], agree: { [name]: mark } }, signal);
  await test(name, signal);
}

async function test(name: string, signal: AbortSignal): Promise<void> {
  next(name);
  const outcome = await stream("test", { name }, (step) => tested(name, step), signal);
  finish(name, outcome);
}

function tested(name: string, step: { name: string; ok: boolean; ms: number; detail: string }): void {
  const key: StepKey = step.name === "spawn" ? "start" : (step.name as StepKey);
  const known = trials.get(name)?.steps.find((one) => one.key === key);
  // Looking a package up has its own time; that it can be resolved now goes without saying.
  if (known?.state !== "done" || !step.ok) {
    set(name, key, { state: step.ok ? "done" : "fail", detail: step.detail, ms: step.ms });
  }
  if (step.ok) next(name);
}

function finish(name: string, outcome: Result<"test">): void {
  if (outcome.error) {
    fail(name, outcome.error.kind, outcome.error.message, outcome.error.hint);
    return;
  }
  const words = outcome.review.length === 0 ? TEST.clear : plural(outcome.review.length, "remark");
  set(name, "review", { state: "done", detail: words });
  change(name, { state: "ok", ended: Date.now(), review: outcome.review, tools: outcome.tools });
}

function begin(
  name: string,
  launch: Pick<Launch, "type">,
  installs: boolean,
  found: { detail: string; ms: number } | null,
  work: (signal: AbortSignal) => Promise<void>,
): void {
  stopTrial(name);
  const opens: StepKey = launch.type === "http" || launch.type === "sse" || launch.type === "inprocess" ? "connect" : "start";
  const keys: StepKey[] = ["resolve", ...(installs ? (["install"] as const) : []), opens, "handshake", "list", "review"];
  const steps = keys.map((key): Step => ({ key, state: "wait", detail: key === "review" ? TEST.review : "", ms: null, began: null }));
  const first = steps[0];
  if (found && first) steps[0] = { ...first, state: "done", ...found };
  trials.set(name, {
    name, steps, began: Date.now(), ended: null, state: "running", progress: null, installing: installs, error: null,
    review: [], tools: 0, log: [],
  });
  const abort = new AbortController();
  aborts.set(name, abort);
  tell();
  work(abort.signal)
    .catch((error: unknown) => ended(name, abort, error))
    .finally(() => {
      if (aborts.get(name) === abort) aborts.delete(name);
      void queries.invalidateQueries();
    });
}

function ended(name: string, abort: AbortController, error: unknown): void {
  if (abort.signal.aborted) {
    change(name, { state: "stopped", ended: Date.now(), installing: false });
    notify(TEST.stopped);
    return;
  }
  const known = error instanceof ApiError ? error : new ApiError(0, "error", error instanceof Error ? error.message : String(error));
  fail(name, known.kind, known.message, known.hint);
}

function fail(name: string, kind: string, message: string, hint: string): void {
  const at = trials.get(name)?.steps.find((step) => step.state === "work" || step.state === "fail");
  if (at) set(name, at.key, { state: "fail", ms: at.ms ?? (at.began === null ? null : Date.now() - at.began) });
  change(name, { state: "failed", ended: Date.now(), installing: false, error: { kind, message, hint } });
  if (at?.key !== "install") void lastLines(name); // Before that there is nothing that could have written.
}

async function lastLines(name: string): Promise<void> {
  const params: Params<"logs"> = { name, count: 8 };
  const answer = await run("logs", params).catch(() => null);
  if (answer) change(name, { log: answer.lines });
}

function set(name: string, key: StepKey, update: Partial<Step>): void {
  const trial = trials.get(name);
  if (!trial) return;
  change(name, { steps: trial.steps.map((step) => (step.key === key ? { ...step, ...update } : step)) });
}

function work(name: string, key: StepKey): void {
  set(name, key, { state: "work", began: Date.now() });
}

function done(name: string, key: StepKey, detail: string, ms: number | null): void {
  const step = trials.get(name)?.steps.find((one) => one.key === key);
  set(name, key, { state: "done", detail, ms: ms ?? (step?.began ? Date.now() - step.began : null) });
}

/** The first step that nobody has begun is under way now. */
function next(name: string): void {
  const step = trials.get(name)?.steps.find((one) => one.state === "wait");
  if (step) work(name, step.key);
}
