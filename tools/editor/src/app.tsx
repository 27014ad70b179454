// SPDX-License-Identifier: MIT
// The page: menu, tree, viewport with panels, inspector, bake modal, messages.
import {useEffect, useRef, useState} from "preact/hooks";

import {BakeModal, Message, StaleToast, Warnings} from "./bake";
import {Inspector} from "./inspector";
import {Menu} from "./menu";
import {SceneView} from "./scene_view";
import * as store from "./store";
import {Tree} from "./tree";

function Stats() {
    if (!store.stats.value) {
        return null;
    }
    const sum = store.culled.value, data = store.occlusion.value?.data;
    return (
        <div class="stats" data-test="stats">
            <b>Culling</b>
            <span>drawn <i data-test="drawn">{sum.drawn}</i></span>
            <span>frustum-culled <i data-test="frustum-culled">{sum.frustumCulled}</i></span>
            <span>occlusion-culled <i data-test="occlusion-culled">{sum.occlusionCulled}</i></span>
            <small>
                {data ? `${data.cells.toLocaleString("en")} cells, ${kilobytes(data.fileBytes)}` : "not baked"}
                {store.preview.value && data ? `, game camera in cell ${store.gameCell.value}` : ""}
            </small>
        </div>
    );
}

export function kilobytes(bytes: number): string {
    return bytes < 10240 ? `${bytes} bytes` : bytes < 10485760 ? `${Math.round(bytes / 1024)} KB`
        : `${(bytes / 1048576).toFixed(1)} MB`;
}

function Panel(props: {title: string; name: string; index: number; view: SceneView | null}) {
    const element = useRef<HTMLDivElement>(null);
    useEffect(() => {
        if (props.view && element.current) {
            props.view.addPanel(element.current);
        }
    }, [props.view]);
    const choice = props.index === 0 ? store.gameCamera : store.secondCamera;
    const counts = store.counts.value[props.index];
    return (
        <figure class="panel" style={{visibility: store.panels.value ? "visible" : "hidden"}} data-test={props.name}>
            <figcaption>
                {props.title}
                <select value={choice.value} aria-label={`${props.title}: camera`}
                    onChange={event => { choice.value = Number(event.currentTarget.value); }}>
                    {choice.value < 0 && <option value={-1}>placed here</option>}
                    {store.cameras.value.map(camera =>
                        <option key={camera.id} value={camera.id}>{camera.name || `camera ${camera.id}`}</option>)}
                </select>
                {counts && <small>{counts.drawn} drawn</small>}
            </figcaption>
            <div ref={element} class="screen" />
        </figure>
    );
}

/** Keys that work where no field has the focus. */
function useKeys(view: SceneView | null): void {
    useEffect(() => {
        const onKey = (event: KeyboardEvent) => {
            const field = (event.target as HTMLElement).closest("input, select, textarea");
            const control = event.ctrlKey || event.metaKey;
            const key = event.key.toLowerCase();
            const actions: Record<string, () => unknown> = control
                ? {s: store.save, z: event.shiftKey ? store.redo : store.undo, y: store.redo}
                : field ? {} : {
                    f: () => view?.focus(store.selected.value.map(node => node.bounds).filter(box => box !== null)),
                    b: store.bake,
                    p: () => store.setPreview(!store.preview.value),
                    m: store.markSelected,
                    g: () => view?.moveGameCamera(),
                    h: () => { store.heatMap.value = !store.heatMap.value; },
                    w: () => view?.setHandleMode("translate"),
                    e: () => view?.setHandleMode("rotate"),
                    r: () => view?.setHandleMode("scale"),
                    delete: store.removeSelectedAreas,
                    escape: () => store.select([]),
                };
            if (actions[key]) {
                event.preventDefault();
                void actions[key]();
            }
        };
        addEventListener("keydown", onKey);
        return () => removeEventListener("keydown", onKey);
    }, [view]);
}

export function App() {
    const canvas = useRef<HTMLCanvasElement>(null);
    const [view, setView] = useState<SceneView | null>(null);
    useEffect(() => setView(new SceneView(canvas.current!)), []);
    useKeys(view);
    useEffect(() => {
        const onLeave = (event: BeforeUnloadEvent) => {
            if (store.status.value?.dirty) {
                event.preventDefault();
            }
        };
        addEventListener("beforeunload", onLeave);
        return () => removeEventListener("beforeunload", onLeave);
    }, []);
    return (
        <div class="app">
            <Menu view={view} />
            <Tree />
            <main>
                <canvas ref={canvas} data-test="viewport" />
                <Stats />
                <div class="panels">
                    <Panel title="Game Preview" name="game-preview" index={0} view={view} />
                    <Panel title="Second Screen Preview" name="second-preview" index={1} view={view} />
                </div>
                <StaleToast />
                <Message />
            </main>
            <Inspector />
            <Warnings view={view} />
            <BakeModal />
        </div>
    );
}
