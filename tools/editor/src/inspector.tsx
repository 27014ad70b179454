// SPDX-License-Identifier: MIT
// What is selected, and the scene's settings with what a bake would cost.
import {kilobytes} from "./app";
import type {FlagName, Settings} from "./api";
import * as store from "./store";

const flags: {name: FlagName; title: string; help: string}[] = [
    {name: "occluder", title: "Occluder Static", help: "blocks the view: big and opaque things"},
    {name: "occludee", title: "Occludee Static", help: "is culled where it cannot be seen"},
    {name: "dynamic", title: "Dynamic", help: "moves in the game: culled by the coarse table"},
    {name: "blocker", title: "Blocker", help: "never drawn, blocks if Occluder Static"},
    {name: "hidden", title: "Hidden", help: "switched off"},
    {name: "skybox", title: "Skybox", help: "never an occluder or occludee"},
    {name: "alwaysUpdate", title: "Always Update", help: "goes on animating while it is culled"},
];

function Flags() {
    const nodes = store.selected.value;
    const busy = store.baking.value !== null;
    return (
        <fieldset disabled={busy}>
            <legend>Primitive ▸ Occlusion</legend>
            {flags.map(flag => {
                const on = nodes.filter(node => node.flags[flag.name]).length;
                return (
                    <label key={flag.name} title={flag.help}>
                        <input type="checkbox" data-test={`flag-${flag.name}`} checked={on === nodes.length}
                            ref={box => { if (box) { box.indeterminate = on > 0 && on < nodes.length; } }}
                            onChange={event => void store.setFlag(flag.name, event.currentTarget.checked)} />
                        {flag.title}
                    </label>
                );
            })}
        </fieldset>
    );
}

function Selection() {
    const nodes = store.selected.value;
    if (nodes.length === 0) {
        return <p class="hint">Select nodes in the tree or the viewport: Shift and Ctrl add.</p>;
    }
    const node = nodes[0];
    const size = node.bounds && [0, 1, 2].map(k => (node.bounds![3 + k] - node.bounds![k]).toFixed(2)).join(" × ");
    return (
        <section>
            <h2>{nodes.length === 1 ? node.name || `node ${node.id}` : `${nodes.length} nodes`}</h2>
            {nodes.length === 1 && (
                <p class="hint">
                    {node.kind}, id {node.id}{size ? `, ${size} m` : ""}
                    {node.instances > 0 ? `, ${node.instances} instances` : ""}
                    {node.tags.length > 0 ? `, tags ${node.tags.join(", ")}` : ""}
                </p>
            )}
            {nodes.every(item => item.kind === "OcclusionArea")
                ? <p class="hint">Handles: W moves, E turns, R sizes. Delete removes the area.</p>
                : <Flags />}
        </section>
    );
}

function Cost() {
    const cost = store.estimate.value;
    if (!cost) {
        return null;
    }
    return (
        <p class={cost.refused ? "cost refused" : cost.warns ? "cost warns" : "cost"} data-test="cost">
            <b>{cost.cells.toLocaleString("en")} cells</b>
            {cost.refused ? ` — refused: ${cost.message}`
                : `, ${kilobytes(cost.leastBytes)} to ${kilobytes(cost.mostBytes)}`}
            {cost.cpuSeconds !== null && !cost.refused ? `, about ${cost.cpuSeconds.toFixed(1)} s of CPU` : ""}
        </p>
    );
}

function Number_(props: {title: string; name: keyof Settings; value: number; unit: string; least: number; step: string}) {
    return (
        <label>
            {props.title}
            <span>
                <input type="number" step={props.step} min={props.least} value={props.value} data-test={props.name}
                    onChange={event => {
                        const value = event.currentTarget.valueAsNumber;
                        if (Number.isFinite(value)) {
                            void store.setSettings({[props.name]: value});
                        }
                    }} /> {props.unit}
            </span>
        </label>
    );
}

function Toggle(props: {title: string; name: keyof Settings; value: boolean}) {
    return (
        <label>
            <input type="checkbox" checked={props.value} data-test={props.name}
                onChange={event => void store.setSettings({[props.name]: event.currentTarget.checked})} />
            {props.title}
        </label>
    );
}

function SceneSettings() {
    const s = store.settings.value;
    if (!s) {
        return null;
    }
    return (
        <section>
            <h2>Scene</h2>
            <fieldset disabled={store.baking.value !== null}>
                <legend>Occlusion Culling</legend>
                <Toggle title="Enable Occlusion Culling" name="occlusionCulling" value={s.occlusionCulling} />
                <Number_ title="Occlusion Cell Size" name="occlusionCellSize" value={s.occlusionCellSize} unit="m" least={0}
                    step="any" />
                <label>
                    Bake Quality
                    <select value={s.bakeQuality} data-test="bakeQuality" onChange={event => void store.setSettings(
                        {bakeQuality: event.currentTarget.value as Settings["bakeQuality"]})}>
                        {["low", "medium", "high", "proven"].map(name => <option key={name}>{name}</option>)}
                    </select>
                </label>
                <Toggle title="Dynamic Objects" name="dynamicObjects" value={s.dynamicObjects} />
                <Number_ title="Console Budget" name="consoleBudgetKB" value={s.consoleBudgetKB} unit="KB" least={0} step="1" />
                <Cost />
            </fieldset>
        </section>
    );
}

export function Inspector() {
    return (
        <aside>
            <Selection />
            <SceneSettings />
        </aside>
    );
}
