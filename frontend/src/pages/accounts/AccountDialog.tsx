/** The dialog that adds or edits an account, from choosing the provider to the outcome: which providers are offered,
 * order of its steps. The host tests and stores the account. */

import { useRef, useState } from "react";

import { run, stream } from "../../api/client";
import { queries, useOperation } from "../../api/hooks";
import { ErrorBox } from "../../ui/ErrorBox";
import { Loading } from "../../ui/Loading";
import { StepDialog } from "../add/StepDialog";
import { providersFor } from "../server/accountProviders";
import { AccountForm } from "./AccountForm";
import "./accounts.css";
import { AddedStep, type Outcome } from "./AddedStep";
import { keepCheck } from "./checks";
import { draftOf, newDraft, requestOf, type Draft } from "./draft";
import { ProviderStep } from "./ProviderStep";
import { cancelSignIn, type SignInResult } from "./signIn";
import { SignInStep } from "./SignInStep";
import { FORM, formTitle } from "./text";
import type { Account, Added, Provider } from "./types";

interface Props {
  /** The account to change; without it a new one is added. */
  account?: Account;
  /** Providers to choose from; without it all of them. */
  only?: readonly string[];
  /** Only for this server. */
  server?: string;
  /** Called with the servers that were turned on, instead of `onClose`, once an account was added. */
  onAdded?: (servers: readonly string[]) => void;
  onClose: () => void;
}

/** Loads what the dialog needs, then opens it. */
export function AccountDialog({ account, only, server, onAdded, onClose }: Props) {
  const providers = useOperation("account_providers", {});
  const accounts = useOperation("account_list", {});
  const entry = useOperation("entry", { name: server ?? "" }, { enabled: server !== undefined });
  const error = providers.error ?? accounts.error ?? entry.error;
  if (providers.data && accounts.data && (server === undefined || entry.data)) {
    const kinds = entry.data ? providersFor(entry.data.text, providers.data) : only;
    const offered = providers.data.filter((one) =>
      account ? one.provider === account.provider : !kinds || kinds.includes(one.provider),
    );
    const taken = accounts.data.map((one) => one.name);
    return <Steps providers={offered} taken={taken} account={account} onAdded={onAdded} onClose={onClose} />;
  }
  return (
    <StepDialog title={FORM.choose} onClose={onClose} foot={<CloseButton onClose={onClose} />}>
      {error ? <ErrorBox error={error} again={() => void refresh()} /> : <Loading rows={4} />}
    </StepDialog>
  );
}

function CloseButton({ onClose }: { onClose: () => void }) {
  return (
    <button type="button" className="btn" onClick={onClose}>
      {FORM.cancel}
    </button>
  );
}

interface StepsProps {
  providers: readonly Provider[];
  taken: readonly string[];
  account: Account | undefined;
  onAdded: Props["onAdded"];
  onClose: () => void;
}

type SignIn = { id: string; url: string };

/** Choose a provider, fill in its form, sign in if it asks for that, and see the outcome. */
function Steps({ providers, taken, account, onAdded, onClose }: StepsProps) {
  const single = providers.length === 1 ? providers[0] : undefined;
  const [provider, setProvider] = useState(single);
  const [draft, setDraft] = useState<Draft | null>(() => (single ? firstDraft(single, account, taken) : null));
  const [signIn, setSignIn] = useState<SignIn | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const request = useRef<AbortController>(null);

  function choose(chosen: Provider | undefined) {
    setProvider(chosen);
    setDraft(chosen ? firstDraft(chosen, account, taken) : null);
    setError(null);
  }

  async function submit(chosen: Provider, filled: Draft, secrets: Record<string, string>) {
    const abort = new AbortController();
    request.current = abort;
    setBusy(true);
    setError(null);
    try {
      const given = requestOf(filled, secrets, chosen);
      if (chosen.sign_in) begin(opened(await run("account_sign_in", given)), abort.signal);
      else finish(await stream("account_add", given, () => undefined, abort.signal));
    } catch (caught) {
      if (!abort.signal.aborted) setError(caught);
    } finally {
      setBusy(false);
    }
  }

  /** The request is never aborted: the host would keep a sign-in that nobody could cancel. */
  function begin(started: SignIn, signal: AbortSignal) {
    if (signal.aborted) cancelSignIn(started.id);
    else setSignIn(started);
  }

  function finish(added: Added) {
    const { account: made, identity, remarks, servers_added: servers } = added;
    keepCheck(made.name, { name: made.name, ok: true, identity, remarks, error: "", hint: "" });
    setSignIn(null);
    setOutcome({ name: made.name, identity, servers, remarks });
    void refresh();
  }

  function signedIn({ account: made, servers_added }: SignInResult) {
    if (made) finish({ account: made, identity: made.user, remarks: [], servers_added });
  }

  function close() {
    request.current?.abort();
    if (busy) void refresh(); // It may have been added all the same.
    if (signIn) cancelSignIn(signIn.id);
    onClose();
  }

  if (outcome) return <AddedStep outcome={outcome} onClose={() => (onAdded ? onAdded(outcome.servers) : onClose())} />;
  if (!provider || !draft) return <ProviderStep providers={providers} onChoose={choose} onClose={close} />;
  if (signIn)
    return (
      <SignInStep
        title={formTitle(provider, draft.replaced)}
        {...signIn}
        onDone={signedIn}
        onFailed={(caught) => (setSignIn(null), setError(caught))}
        onCancel={close}
      />
    );
  return (
    <AccountForm
      key={provider.provider}
      provider={provider}
      draft={draft}
      taken={taken}
      busy={busy}
      error={error}
      onDraft={setDraft}
      onSubmit={(secrets) => void submit(provider, draft, secrets)}
      onBack={providers.length > 1 ? () => choose(undefined) : undefined}
      onClose={close}
    />
  );
}

function firstDraft(provider: Provider, account: Account | undefined, taken: readonly string[]): Draft {
  return account ? draftOf(account, provider) : newDraft(provider, taken);
}

function opened({ sign_in, url }: { sign_in: string; url: string }): SignIn {
  return { id: sign_in, url };
}

async function refresh(): Promise<void> {
  await queries.invalidateQueries(); // An account may turn servers on.
}
