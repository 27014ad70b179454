// SPDX-License-Identifier: MIT
// The bake: its modal, what it warned of, and the notice that its data is stale.
import type {SceneView} from "./scene_view";
import * as store from "./store";

function clock(seconds: number): string {
    return `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;
}

export function BakeModal() {
    const event = store.baking.value;
    if (!event) {
        return null;
    }
    const share = event.total > 0 ? event.done / event.total : 0;
    const left = share > 0.02 ? clock(event.seconds / share - event.seconds) : "";
    return (
        <div class="shade">
            <dialog open aria-label="Baking" data-test="bake-modal">
                <h2>Baking occlusion culling</h2>
                <progress value={share} max={1} />
                <p>
                    {event.cells > 0
                        ? `${Math.round(share * event.cells).toLocaleString("en")} of ${event.cells.toLocaleString("en")} cells`
                        : "preparing"}
                    {event.raysPerSecond > 0 ? `, ${(event.raysPerSecond / 1e6).toFixed(1)} M rays/s` : ""}
                    {`, ${clock(event.seconds)} so far`}
                    {left ? `, ${left} left` : ""}
                </p>
                <button data-test="cancel" onClick={() => void store.cancelBake()}>Cancel</button>
                <small>The old data stays until the bake is done.</small>
            </dialog>
        </div>
    );
}

export function StaleToast() {
    const occlusion = store.occlusion.value;
    if (!occlusion?.baked || !occlusion.stale || store.baking.value) {
        return null;
    }
    const node = store.byId.value.get(occlusion.staleNode);
    return (
        <div class="toast" role="alert" data-test="stale">
            The baked data is stale: {occlusion.staleReason}{node ? ` (${node.name})` : ""}. Culling is off.
            <button class="primary" onClick={() => void store.bake()}>Re-bake</button>
        </div>
    );
}

export function Message() {
    const message = store.message.value;
    return message && (
        <div class={message.error ? "message error" : "message"} role="status" data-test="message">{message.text}</div>
    );
}

export function Warnings(props: {view: SceneView | null}) {
    const list = store.warnings.value, failed = store.occlusion.value?.bake;
    if (list.length === 0 && failed?.state !== "failed") {
        return null;
    }
    return (
        <section class="warnings" aria-label="Warnings" data-test="warnings">
            {failed?.state === "failed" && <p class="error">{failed.message}</p>}
            {list.map((warning, i) => (
                <button key={i} disabled={warning.node < 0} onClick={() => {
                    store.select([warning.node]);
                    const bounds = store.byId.value.get(warning.node)?.bounds;
                    if (bounds) {
                        props.view?.focus([bounds]);
                    }
                }}>⚠ {warning.text}</button>
            ))}
        </section>
    );
}
