import { createApp } from "vue";
import ElementPlus, { ElMessage, ElMessageBox } from "element-plus";
import "element-plus/dist/index.css";

const PLACES = [{ value: "guide", label: "Guide", children: [{ value: "principles", label: "Principles" }, { value: "navigation", label: "Navigation" }] }];
const App = {
  data: () => ({ tell: window.tell, city: "Beijing", many: ["Beijing"], text: "", place: [], on: false, box: false, radio: "1", number: 1, size: 40, stars: 2, day: "2026-04-17", time: "", dialog: false, drawer: false, tab: "user", parts: [], chosen: ["b"], form: { name: "" }, rules: { name: [{ required: true, message: "Please input a name" }] }, rows: [{ name: "Tom", city: "Rome" }, { name: "Ann", city: "Paris" }], tree: [{ id: 1, label: "Level one", children: [{ id: 2, label: "Level two" }] }], sources: ["a", "b", "c"].map((key) => ({ key, label: `Option ${key}` })) }),
  methods: {
    suggest: (query, answer) => answer([{ value: "vue" }, { value: "vuex" }].filter((each) => each.value.startsWith(query))),
    ask: () => ElMessageBox.confirm("proxy will permanently delete the file.", "Warning").then(() => window.tell("confirmed", true)),
    say: () => ElMessage({ message: "this is a message.", duration: 0 }),
    send() { this.$refs.form.validate((valid) => valid && window.tell("form", this.form.name)); },
  },
  setup: () => ({ PLACES }),
  template: `<h1>Element Plus</h1>
    <el-select v-model="city" aria-label="City" style="width: 240px" @change="tell('city', $event)"><el-option v-for="each in ['Shanghai', 'Beijing', 'Nanjing']" :key="each" :label="each" :value="each" /></el-select>
    <el-select v-model="many" aria-label="Cities" multiple filterable style="width: 240px" @change="tell('many', $event)"><el-option v-for="each in ['Shanghai', 'Beijing', 'Nanjing']" :key="each" :label="each" :value="each" /></el-select>
    <el-autocomplete v-model="text" aria-label="Input" :fetch-suggestions="suggest" placeholder="Please Input" @select="tell('suggested', $event.value)" />
    <el-cascader v-model="place" aria-label="Part" :options="PLACES" @change="tell('place', $event)" />
    <el-checkbox v-model="box" label="Option A" @change="tell('box', $event)" /><el-switch v-model="on" aria-label="Monthly" @change="tell('on', $event)" />
    <el-radio-group v-model="radio" @change="tell('radio', $event)"><el-radio value="1">First</el-radio><el-radio value="2">Second</el-radio></el-radio-group>
    <el-input-number v-model="number" :min="1" :max="10" aria-label="Num" @change="tell('number', $event)" /><div style="width: 200px; margin: 12px"><el-slider v-model="size" aria-label="Size" @change="tell('size', $event)" /></div><el-rate v-model="stars" @change="tell('stars', $event)" />
    <el-date-picker v-model="day" type="date" aria-label="Pick a day" value-format="YYYY-MM-DD" @change="tell('day', $event)" /><el-time-select v-model="time" aria-label="Time" start="08:30" step="00:15" end="18:30" @change="tell('time', $event)" />
    <el-dropdown @command="tell('command', $event)"><span tabindex="0">Dropdown List ▾</span><template #dropdown><el-dropdown-menu><el-dropdown-item command="one">Action 1</el-dropdown-item><el-dropdown-item command="two">Action 2</el-dropdown-item></el-dropdown-menu></template></el-dropdown>
    <el-button @click="dialog = true">Open the Dialog</el-button><el-dialog v-model="dialog" title="Tips"><span>This is a message</span><template #footer><el-button @click="dialog = false; tell('dialog', 'ok')">Confirm it</el-button></template></el-dialog>
    <el-button @click="drawer = true">Open drawer</el-button><el-drawer v-model="drawer" title="I am the title" @closed="tell('drawer', 'closed')">Hi, there!</el-drawer><el-button @click="ask">Open the Message Box</el-button><el-button @click="say">Show message</el-button>
    <el-popconfirm title="Are you sure to delete this?" @confirm="tell('popped', true)"><template #reference><el-button>Delete</el-button></template></el-popconfirm><el-tag closable @close="tell('tag', 'closed')">Tag 1</el-tag>
    <el-tabs v-model="tab" @tab-change="tell('tab', $event)"><el-tab-pane label="User" name="user">User text</el-tab-pane><el-tab-pane label="Config" name="config">Config text</el-tab-pane></el-tabs>
    <el-collapse v-model="parts" @change="tell('parts', $event)"><el-collapse-item title="Consistency" name="1">Consistent with real life</el-collapse-item></el-collapse>
    <el-menu mode="horizontal" :ellipsis="false" @select="tell('menu', $event)"><el-menu-item index="1">Processing Center</el-menu-item><el-sub-menu index="2"><template #title>Workspace</template><el-menu-item index="2-1">item one</el-menu-item></el-sub-menu></el-menu>
    <el-table :data="rows" @selection-change="tell('rows', $event.map((each) => each.name))" @sort-change="tell('sorted', $event.order)"><el-table-column type="selection" width="55" /><el-table-column prop="name" label="Name" sortable /><el-table-column prop="city" label="City" /></el-table>
    <el-tree :data="tree" node-key="id" @node-click="tell('node', $event.id)" /><el-transfer v-model="chosen" :data="sources" @change="tell('transferred', $event)" /><el-pagination layout="prev, pager, next" :total="50" @current-change="tell('page', $event)" />
    <el-form ref="form" :model="form" :rules="rules"><el-form-item label="Activity name" prop="name"><el-input v-model="form.name" /></el-form-item><el-button @click="send">Create</el-button></el-form>`,
};

createApp(App).use(ElementPlus).mount("#root");
